import { StreamHub } from './hub';

describe('a subscription', () => {
  const hooks = { onDropped: () => undefined, onError: () => undefined };
  const subscriber = { scope: '*', classes: new Set(['alert'] as const), deliver: () => undefined };

  it('fails when its source does not start in time, and leaves nothing behind', async () => {
    const hub = new StreamHub(hooks, 512, 5);
    let isHanging = true;
    hub.connect({
      start: () => (isHanging ? new Promise(() => undefined) : Promise.resolve()),
      stop: async () => undefined,
    });

    await expect(hub.subscribe(subscriber)).rejects.toMatchObject({ errorCode: 'service_unavailable' });
    expect(hub.hasAllTenants).toBe(false);

    isHanging = false;
    const leave = await hub.subscribe(subscriber);
    expect(hub.hasAllTenants).toBe(true);
    leave();
    await hub.close();
  });
});
