package main

import (
	"context"
	"errors"
	"time"

	"example.com/worker/bus"
)

// input is the document behind the context pointer of a job.
type input struct {
	Prompt  string `json:"prompt"`
	Context struct {
		Seconds *float64 `json:"seconds"`
	} `json:"context"`
}

type handler func(ctx context.Context, job *job, in input) (any, error)

// failure is an error with the status and the code of the result.
type failure struct {
	status bus.JobStatus
	code   string
}

func (f *failure) Error() string { return f.code }

// handlers by topic. Those of `npm run conformance` are included.
var handlers = map[string]handler{
	"job.demo.go-echo":     echo,
	"job.demo.go-flaky":    flaky,
	"job.demo.go-slow":     slow,
	"job.conformance.echo": echo,
	"job.conformance.slow": slow,
	"job.conformance.fail": broken,
}

func echo(_ context.Context, _ *job, in input) (any, error) {
	return map[string]string{"echo": in.Prompt}, nil
}

func flaky(_ context.Context, job *job, _ input) (any, error) {
	if job.request.GetDispatch().GetAttempt() == 1 {
		return nil, &failure{bus.JobStatus_JOB_STATUS_FAILED_RETRYABLE, "busy"}
	}
	return map[string]bool{"done": true}, nil
}

// slow ends after context.seconds, or by a cancel.
func slow(ctx context.Context, job *job, in input) (any, error) {
	job.progress(40, "waiting for a cancel")
	seconds := 600.0
	if in.Context.Seconds != nil {
		seconds = *in.Context.Seconds
	}
	select {
	case <-time.After(time.Duration(seconds * float64(time.Second))):
		return map[string]bool{"done": true}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func broken(context.Context, *job, input) (any, error) {
	return nil, &failure{bus.JobStatus_JOB_STATUS_FAILED_FATAL, "broken"}
}

// statusOf returns the status and the code of a result. An error that is not a failure may be temporary: the store was
// unreachable, for example.
func statusOf(err error) (bus.JobStatus, string) {
	var failed *failure
	switch {
	case err == nil:
		return bus.JobStatus_JOB_STATUS_SUCCEEDED, ""
	case errors.As(err, &failed):
		return failed.status, failed.code
	case errors.Is(err, context.DeadlineExceeded):
		return bus.JobStatus_JOB_STATUS_TIMEOUT, "deadline"
	case errors.Is(err, context.Canceled):
		return bus.JobStatus_JOB_STATUS_CANCELLED, ""
	default:
		return bus.JobStatus_JOB_STATUS_FAILED_RETRYABLE, "worker_error"
	}
}
