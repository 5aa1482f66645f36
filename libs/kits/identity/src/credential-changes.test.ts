import { CredentialChanges } from './credential-changes';

describe('streams that follow their credential', () => {
  const open = () => {
    const changes = new CredentialChanges(() => Date.now());
    const checks: string[] = [];
    const follow = (name: string, ids: string[], expiresAtMs?: number) =>
      changes.follow({ ids, ...(expiresAtMs !== undefined && { expiresAtMs }) }, () => void checks.push(name));
    return { changes, checks, follow };
  };

  it('are checked at once, when one of their ids changes, and when any credential may have changed', () => {
    const { changes, checks, follow } = open();
    follow('session', ['apikey:1', 'session:1']);
    follow('key', ['apikey:1']);
    follow('other', ['apikey:2']);
    follow('anonymous', []);
    expect(checks.splice(0)).toEqual(['session', 'key', 'other', 'anonymous']);

    changes.changed('session:1');
    expect(checks.splice(0)).toEqual(['session']);
    changes.changed('apikey:1');
    expect(checks.splice(0)).toEqual(['session', 'key']);
    changes.changed('');
    expect(checks).toEqual([]);
    changes.anyChanged();
    expect(checks).toEqual(['session', 'key', 'other', 'anonymous']);
  });

  it('are not checked after they ended, also while others are checked', () => {
    const { changes, checks, follow } = open();
    const leave = follow('first', ['apikey:1']);
    follow('second', ['apikey:1']);
    checks.length = 0;

    leave();
    leave();
    changes.changed('apikey:1');
    changes.anyChanged();

    expect(checks).toEqual(['second', 'second']);
  });

  it('are checked at their expiry, however far away', () => {
    jest.useFakeTimers({ now: 0 });
    try {
      const { checks, follow } = open();
      follow('soon', [], 1_000);
      follow('later', [], 2 ** 40);
      checks.length = 0;

      jest.advanceTimersByTime(999);
      expect(checks).toEqual([]);
      jest.advanceTimersByTime(100);
      expect(checks).toEqual(['soon']);
    } finally {
      jest.useRealTimers();
    }
  });
});
