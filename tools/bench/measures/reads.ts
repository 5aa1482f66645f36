import type { Product } from '../product';
import type { Session } from '../session';
import { percentile } from '../statistics';

/** GET of the first page of the list, one at a time, with 100,000 ended jobs stored: p99, ms. */
export const list = async (session: Session): Promise<number> =>
  slowest(await session.stocked(), session.sizes.reads, () => '/api/v1/jobs?limit=50');

/** GETs of different jobs, one at a time. */
export async function detail(session: Session): Promise<number> {
  const product = await session.stocked();
  const load = await product.openLoad(1);
  const { body } = await load.one(product.get('/api/v1/jobs?limit=200'));
  load.close();
  const { items } = JSON.parse(body) as { items: { id: string }[] };
  return slowest(product, session.sizes.reads, (i) => `/api/v1/jobs/${items[i % items.length]?.id ?? ''}`);
}

async function slowest(product: Product, count: number, pathOf: (i: number) => string): Promise<number> {
  const load = await product.openLoad(1);
  const ms: number[] = [];
  const read = async (i: number) => {
    const startedMs = performance.now();
    const { status, body } = await load.one(product.get(pathOf(i)));
    ms.push(performance.now() - startedMs);
    if (status !== 200) throw new Error(`${pathOf(i)} got status ${status}: ${body}`);
  };
  try {
    for (let i = 0; i < Math.ceil(count / 10); i++) await read(i);
    ms.length = 0;
    for (let i = 0; i < count; i++) await read(i);
    return percentile(ms, 0.99);
  } finally {
    load.close();
  }
}
