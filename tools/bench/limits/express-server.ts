import { Queue } from 'bullmq';
import express, { type Request, type Response } from 'express';

/** The same without a control plane: an endpoint that accepts JSON, and one that also adds it to a queue. */
const queue = new Queue('bench-posted', { connection: { port: Number(process.env['BENCH_REDIS_PORT']) } });

const app = express();
app.disable('etag');
app.disable('x-powered-by');
app.use(express.json());
app.post('/plain', (req: Request<object, unknown, { topic: string }>, res: Response) => {
  res.json({ topic: req.body.topic });
});
app.post('/add', async (req: Request<object, unknown, { topic: string }>, res: Response) => {
  const { id } = await queue.add(req.body.topic, req.body, { removeOnComplete: true });
  res.json({ id });
});

// The bench process has exited.
process.once('disconnect', () => process.exit(1));

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
