import { chooseTarget, withFragment } from './redirect-target';

const page = 'https://console.example/login';
const own = (url: string) => ({ kind: 'page', url });

describe('the page to return to', () => {
  it.each([
    [undefined, page],
    ['/jobs?tab=1', 'https://console.example/jobs?tab=1'],
    ['https://console.example/jobs', 'https://console.example/jobs'],
    ['https://CONSOLE.example:443/jobs#x', 'https://console.example/jobs'],
  ])('%s is a page of this origin', (wanted, expected) => {
    expect(chooseTarget(wanted, page)).toEqual(own(expected));
  });

  it.each([
    ...['//evil.example', '/\\evil.example', '\\\\evil.example', '/\t/evil.example', '/\n/evil.example'],
    ...['https://evil.example', 'http://console.example/', 'https://console.example.evil.example/'],
    ...['https://console.example@evil.example/', 'https://user@console.example/', 'javascript:alert(1)'],
    ...[
      'https:evil.example',
      'https:/evil.example',
      'https:///evil.example',
      'data:text/html,x',
      'jobs',
      ' /jobs',
      '?x',
    ],
    ...['https://console.example:444/', 'HTTPS://evil.example'],
  ])('%j is replaced by the default', (wanted) => {
    expect(chooseTarget(wanted, page)).toEqual(own(page));
  });

  it('an empty one asks for JSON', () => {
    expect(chooseTarget('', page)).toEqual({ kind: 'json' });
  });

  it('results are in the fragment, encoded, without empty ones', () => {
    expect(withFragment(page, { token: 'a b&c', email: '', tenant: undefined, source: 'oidc' })).toBe(
      'https://console.example/login#token=a+b%26c&source=oidc',
    );
  });
});
