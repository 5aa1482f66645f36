package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	"example.com/worker/bus"
	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"
)

const (
	resultSubject   = "sys.job.result"
	resultRetention = 24 * time.Hour
)

// job is one dispatch of a job to this worker.
type job struct {
	worker  *worker
	traceID string
	request *bus.JobRequest
	cancel  context.CancelFunc
	// Guarded by worker.mutex. Nil while the job runs.
	result  *nats.Msg
	endedAt time.Time
}

// handle runs the job of a message and acknowledges it after its result is stored: a worker that ends before that gets
// the message again.
func (w *worker) handle(message *nats.Msg) {
	packet := decode(message.Data)
	request := packet.GetJobRequest()
	if !w.accepts(request) {
		_ = message.Ack() // a repeat would be refused as well
		return
	}
	ctx, cancel := w.context(packet)
	defer cancel()
	current := &job{worker: w, traceID: packet.GetTraceId(), request: request, cancel: cancel}
	if earlier := w.start(current); earlier != nil {
		w.repeat(earlier, message)
		return
	}
	ended := make(chan struct{})
	go keepLease(message, ended)
	result := current.run(ctx)
	close(ended)
	if err := w.storeResult(result); err != nil {
		w.forget(current)
		_ = message.NakWithDelay(time.Second) // the job runs again with the next delivery
		return
	}
	w.finish(current, result)
	_ = message.Ack()
}

// accepts reports whether the request is complete, for this worker, and for one tenant.
func (w *worker) accepts(request *bus.JobRequest) bool {
	if request.GetJobId() == "" || request.GetTopic() == "" {
		return false
	}
	if assigned := request.GetDispatch().GetAssignedWorkerId(); assigned != "" && assigned != w.id {
		return false
	}
	tenant := ""
	for _, named := range []string{
		request.GetTenantId(), request.GetEnv()["tenant_id"], request.GetMeta().GetTenantId(), request.GetIdentity().GetTenantId(),
	} {
		if named != "" && tenant != "" && named != tenant {
			return false
		}
		if named != "" {
			tenant = named
		}
	}
	return true
}

// context ends at the deadline of the job, which is relative to the time of sending.
func (w *worker) context(packet *bus.BusPacket) (context.Context, context.CancelFunc) {
	deadline := packet.GetJobRequest().GetBudget().GetDeadlineMs()
	if deadline <= 0 {
		return context.WithCancel(context.Background())
	}
	end := packet.GetCreatedAt().AsTime().Add(time.Duration(deadline) * time.Millisecond)
	return context.WithDeadline(context.Background(), end)
}

// start registers a job, or returns the job with the same dispatch.
func (w *worker) start(current *job) *job {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if earlier := w.jobs[current.key()]; earlier != nil {
		return earlier
	}
	w.jobs[current.key()] = current
	return nil
}

// repeat handles a message that was delivered again: a running dispatch continues, a finished one is answered again.
func (w *worker) repeat(earlier *job, message *nats.Msg) {
	w.mutex.Lock()
	result := earlier.result
	w.mutex.Unlock()
	if result == nil {
		return // acknowledged with the next delivery, when the job has ended
	}
	if w.storeResult(result) == nil {
		_ = message.Ack()
	}
}

func (w *worker) storeResult(result *nats.Msg) error {
	_, err := w.js.PublishMsg(result)
	if err != nil {
		log.Printf("storing a result: %v", err)
	}
	return err
}

func (w *worker) finish(ended *job, result *nats.Msg) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	ended.result, ended.endedAt = result, time.Now()
}

func (w *worker) forget(ended *job) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.jobs, ended.key())
}

func (w *worker) forgetFinished() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for key, job := range w.jobs {
		if job.result != nil && time.Since(job.endedAt) > rememberFinished {
			delete(w.jobs, key)
		}
	}
}

// keepLease reports work in progress, so that the message is not delivered again.
func keepLease(message *nats.Msg, ended <-chan struct{}) {
	ticker := time.NewTicker(ackWait / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = message.InProgress()
		case <-ended:
			return
		}
	}
}

func (j *job) key() string {
	return fmt.Sprintf("%s:%s", j.request.GetJobId(), j.request.GetDispatch().GetDispatchId())
}

// isNamedBy reports whether a cancel stops this dispatch: it stops the dispatch that it names and older ones.
func (j *job) isNamedBy(cancel *bus.JobCancel) bool {
	if cancel.GetJobId() != j.request.GetJobId() {
		return false
	}
	named, own := cancel.GetDispatch(), j.request.GetDispatch()
	return named.GetDispatchId() == "" || named.GetDispatchId() == own.GetDispatchId() || named.GetAttempt() > own.GetAttempt()
}

func (j *job) run(ctx context.Context) *nats.Msg {
	startedAt := time.Now()
	pointer, err := j.execute(ctx)
	status, code := statusOf(err)
	result := &bus.JobResult{
		JobId: j.request.GetJobId(), WorkerId: j.worker.id, Status: status, ResultPtr: pointer, ErrorCode: code,
		ExecutionMs: time.Since(startedAt).Milliseconds(), Dispatch: j.request.GetDispatch(), Identity: j.request.GetIdentity(),
	}
	if err != nil && status != bus.JobStatus_JOB_STATUS_CANCELLED {
		result.ErrorMessage = strings.ToValidUTF8(err.Error(), "?")
	}
	packet := j.worker.packet(j.traceID, &bus.BusPacket{Payload: &bus.BusPacket_JobResult{JobResult: result}})
	message := nats.NewMsg(resultSubject)
	message.Data, _ = proto.Marshal(packet) // fails only for text that is not UTF-8
	name := strings.TrimPrefix(status.String(), "JOB_STATUS_")
	id := fmt.Sprintf("%s:%s:%d:%s", resultSubject, result.JobId, result.GetDispatch().GetAttempt(), name)
	message.Header.Set(nats.MsgIdHdr, id)
	return message
}

// execute reads the input, runs the handler and stores what it returns.
func (j *job) execute(ctx context.Context) (pointer string, err error) {
	handle := handlers[j.request.GetTopic()]
	if handle == nil {
		return "", &failure{bus.JobStatus_JOB_STATUS_FAILED_FATAL, "unknown_topic"}
	}
	document, err := j.worker.store.Get(ctx, strings.TrimPrefix(j.request.GetContextPtr(), "redis://")).Bytes()
	if err != nil {
		return "", err
	}
	var in input
	if json.Unmarshal(document, &in) != nil {
		return "", &failure{bus.JobStatus_JOB_STATUS_FAILED_FATAL, "invalid_input"}
	}
	output, err := handle(ctx, j, in)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(output)
	if err != nil {
		return "", err
	}
	key := "res:" + j.request.GetJobId()
	if err := j.worker.store.Set(ctx, key, body, resultRetention).Err(); err != nil {
		return "", err
	}
	return "redis://" + key, nil
}

// progress reports are not confirmed: the next one replaces a lost one.
func (j *job) progress(percent int32, text string) {
	progress := &bus.JobProgress{
		JobId: j.request.GetJobId(), Percent: percent, Message: text,
		Dispatch: j.request.GetDispatch(), Identity: j.request.GetIdentity(),
	}
	packet := j.worker.packet(j.traceID, &bus.BusPacket{Payload: &bus.BusPacket_JobProgress{JobProgress: progress}})
	_ = j.worker.publish("sys.job.progress", packet)
}
