package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"example.com/worker/bus"
	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const (
	stream            = "SVC_JOBS"
	maxParallel       = 8
	heartbeatInterval = 2 * time.Second
	handshakeInterval = 30 * time.Second
	ackWait           = 60 * time.Second
	fetchWait         = time.Second
	rememberFinished  = 10 * time.Minute
)

type worker struct {
	id, pool, token, bootID string
	conn                    *nats.Conn
	js                      nats.JetStreamContext
	store                   *redis.Client
	slots                   chan struct{}
	running                 sync.WaitGroup

	mutex sync.Mutex
	jobs  map[string]*job // by dispatch id
	drain bool
}

func newWorker(id, pool, token string, conn *nats.Conn, store *redis.Client) (*worker, error) {
	js, err := conn.JetStream()
	if err != nil {
		return nil, err
	}
	boot := make([]byte, 16)
	if _, err := rand.Read(boot); err != nil {
		return nil, err
	}
	return &worker{
		id: id, pool: pool, token: token, bootID: hex.EncodeToString(boot), conn: conn, js: js, store: store,
		slots: make(chan struct{}, maxParallel), jobs: map[string]*job{},
	}, nil
}

// serve runs jobs until stop is done, then finishes those that run.
func (w *worker) serve(stop context.Context) error {
	if _, err := w.conn.Subscribe("sys.job.cancel", w.onCancel); err != nil {
		return err
	}
	jobs, err := w.subscribe()
	if err != nil {
		return fmt.Errorf("subscribing to jobs: %w", err)
	}
	ended := make(chan struct{})
	defer close(ended)
	if err := w.announce(); err != nil {
		return err
	}
	go w.keepAnnounced(ended)
	fmt.Println("ready")

	for stop.Err() == nil {
		w.takeNext(stop, jobs)
	}
	w.mutex.Lock()
	w.drain = true
	w.mutex.Unlock()
	// Sent at once, so that no job is dispatched to a worker that will not run it.
	if err := w.announce(); err != nil {
		return err
	}
	w.running.Wait()
	return w.conn.Flush()
}

// subscribe uses the worker's durable consumer, which the services create for a worker with a credential.
func (w *worker) subscribe() (*nats.Subscription, error) {
	subject := fmt.Sprintf("worker.%s.jobs", w.id)
	durable := fmt.Sprintf("dur_%s__%s", w.id, strings.ReplaceAll(subject, ".", "_"))
	if _, err := w.js.ConsumerInfo(stream, durable); err != nil {
		if !errors.Is(err, nats.ErrConsumerNotFound) {
			return nil, err
		}
		_, err := w.js.AddConsumer(stream, &nats.ConsumerConfig{
			Name: durable, Durable: durable, FilterSubject: subject,
			AckPolicy: nats.AckExplicitPolicy, DeliverPolicy: nats.DeliverNewPolicy, AckWait: ackWait,
			InactiveThreshold: time.Hour,
		})
		if err != nil {
			return nil, err
		}
	}
	return w.js.PullSubscribe(subject, durable, nats.Bind(stream, durable))
}

// takeNext waits for a free slot and a job, and starts the job.
func (w *worker) takeNext(stop context.Context, jobs *nats.Subscription) {
	select {
	case w.slots <- struct{}{}:
	case <-stop.Done():
		return
	}
	messages, err := jobs.Fetch(1, nats.MaxWait(fetchWait))
	if err != nil || len(messages) == 0 {
		<-w.slots
		if err != nil && !errors.Is(err, nats.ErrTimeout) {
			time.Sleep(fetchWait) // the connection is being restored
		}
		return
	}
	w.running.Add(1)
	go func() {
		defer w.running.Done()
		defer func() { <-w.slots }()
		w.handle(messages[0])
	}()
}

func (w *worker) onCancel(message *nats.Msg) {
	packet := decode(message.Data)
	cancel := packet.GetJobCancel()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, running := range w.jobs {
		if running.isNamedBy(cancel) {
			running.cancel()
		}
	}
}

func (w *worker) keepAnnounced(ended <-chan struct{}) {
	heartbeats, handshakes := time.NewTicker(heartbeatInterval), time.NewTicker(handshakeInterval)
	defer heartbeats.Stop()
	defer handshakes.Stop()
	for {
		select {
		case <-heartbeats.C:
			w.forgetFinished()
			_ = w.publish("sys.heartbeat", w.heartbeat()) // the next one follows in two seconds
		case <-handshakes.C:
			_ = w.publish("sys.handshake", w.handshake())
		case <-ended:
			return
		}
	}
}

func (w *worker) announce() error {
	if err := w.publish("sys.handshake", w.handshake()); err != nil {
		return err
	}
	if err := w.publish("sys.heartbeat", w.heartbeat()); err != nil {
		return err
	}
	return w.conn.Flush()
}

func (w *worker) heartbeat() *bus.BusPacket {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	running := []string{}
	for _, job := range w.jobs {
		if job.result == nil {
			running = append(running, job.request.GetJobId())
		}
	}
	return w.packet("", &bus.BusPacket{Payload: &bus.BusPacket_Heartbeat{Heartbeat: &bus.Heartbeat{
		WorkerId: w.id, Pool: w.pool, Type: "cpu", ActiveJobs: int32(len(running)), RunningJobs: running,
		MaxParallelJobs: maxParallel, AuthToken: w.token,
		Labels: map[string]string{"svc.boot_id": w.bootID, "svc.echoes_dispatch": "true", "svc.store_access": "true"},
	}}})
}

func (w *worker) handshake() *bus.BusPacket {
	topics := make([]string, 0, len(handlers))
	for topic := range handlers {
		topics = append(topics, topic)
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	abilities := map[string]bool{"heartbeats": true, "progress": true, "cancel": true, "x-draining": w.drain}
	return w.packet("", &bus.BusPacket{Payload: &bus.BusPacket_Handshake{Handshake: &bus.Handshake{
		ComponentId: w.id, Role: bus.ComponentRole_COMPONENT_ROLE_WORKER, SupportedVersions: []int32{1},
		Capabilities: abilities, SdkVersion: "example-go/1", ReadyTopics: topics,
	}}})
}

// packet completes a packet with the fields that all packets have.
func (w *worker) packet(traceID string, packet *bus.BusPacket) *bus.BusPacket {
	packet.TraceId, packet.SenderId, packet.AuthToken = traceID, w.id, w.token
	packet.ProtocolVersion, packet.CreatedAt = 1, timestamppb.Now()
	return packet
}

func (w *worker) publish(subject string, packet *bus.BusPacket) error {
	data, err := proto.Marshal(packet)
	if err != nil {
		return err
	}
	return w.conn.Publish(subject, data)
}

// decode returns nil for a message that is not a packet of this version. Getters of nil return nil.
func decode(data []byte) *bus.BusPacket {
	packet := &bus.BusPacket{}
	if proto.Unmarshal(data, packet) != nil || packet.GetProtocolVersion() != 1 {
		return nil
	}
	return packet
}
