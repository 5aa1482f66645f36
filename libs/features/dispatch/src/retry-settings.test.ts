import { retrySettings } from './retry-settings';

describe('retrySettings', () => {
  const defaults = retrySettings(undefined);

  it('are the defaults without config', () => {
    expect(retrySettings({})).toEqual(defaults);
    expect(retrySettings({ retry: null })).toEqual(defaults);
    expect(retrySettings({ retry: 'never' })).toEqual(defaults);
  });

  it('override the defaults one by one', () => {
    const retry = {
      max_retries: 0,
      initial_backoff: '1.5s',
      max_backoff: '2m',
      backoff_multiplier: 3,
      retryable_errors: ['a'],
    };

    expect(retrySettings({ retry })).toEqual({
      ...defaults,
      maxRetries: 0,
      initialBackoffMs: 1_500,
      maxBackoffMs: 120_000,
      multiplier: 3,
      retryableErrors: ['a'],
    });
  });

  it.each([
    ['500ms', 500],
    ['1h', 3_600_000],
  ])('reads %s as %s ms', (initial_backoff, ms) => {
    expect(retrySettings({ retry: { initial_backoff } }).initialBackoffMs).toBe(ms);
  });

  it.each([
    { max_retries: -1 },
    { max_retries: 'many' },
    { initial_backoff: 'soon' },
    { initial_backoff: '5' },
    { max_backoff: 10 },
    { backoff_multiplier: null },
    { retryable_errors: 'timeout' },
  ])('keeps the default for %j', (retry) => {
    expect(retrySettings({ retry })).toEqual(defaults);
  });

  it('drops list entries that are not strings', () => {
    expect(retrySettings({ retry: { non_retryable_errors: ['a', 1, null] } }).nonRetryableErrors).toEqual(['a']);
  });
});
