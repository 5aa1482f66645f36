// A worker in Go on published packages only: nats.go, go-redis and protobuf. Copy it with
// `node tools/go-worker.mjs <folder>`, which also generates the package bus from libs/contract/src/proto/bus.proto.
//
// Reads WORKER_ID, SVC_POOL, NATS_URL, REDIS_URL and, for a worker with a credential, WORKER_TOKEN. Prints `ready` once
// it is announced. SIGTERM finishes the running jobs and exits.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	id, token := os.Getenv("WORKER_ID"), os.Getenv("WORKER_TOKEN")
	conn, err := nats.Connect(os.Getenv("NATS_URL"), connectionOptions(id, token)...)
	if err != nil {
		return fmt.Errorf("NATS: %w", err)
	}
	defer conn.Close()

	options, err := redis.ParseURL(os.Getenv("REDIS_URL"))
	if err != nil {
		return fmt.Errorf("REDIS_URL is not a valid address") // the cause may contain the password
	}
	if options.Password == "" {
		options.Password = token
	}
	store := redis.NewClient(options)
	defer store.Close()

	stop, release := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer release()
	worker, err := newWorker(id, os.Getenv("SVC_POOL"), token, conn, store)
	if err != nil {
		return err
	}
	return worker.serve(stop)
}

// The token is the password of the worker's own NATS user. Credentials in the URL have precedence.
func connectionOptions(id, token string) []nats.Option {
	options := []nats.Option{nats.Name(id), nats.MaxReconnects(-1)}
	if token != "" {
		options = append(options, nats.UserInfo(id, token))
	}
	return options
}
