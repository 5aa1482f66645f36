import { passwordProblem } from './password-rule';

describe('a new password', () => {
  it.each(['Keel-and-rudder-7', 'Ümlaut straße 12', 'x7!KxQ2m#vRt9', `A1-${'é'.repeat(125)}`])(
    'may be %s',
    (password) => {
      expect(passwordProblem(password)).toBeUndefined();
    },
  );

  it.each([
    ['Short-1', /12 to 128/],
    [`A1-${'x'.repeat(126)}`, /12 to 128/],
    ['keel-and-rudder-7', /upper-case/],
    ['Keel-and-rudder', /digit/],
    ['KeelAndRudder7', /neither letter nor digit/],
    ['Password1234!', /common/],
    ['!!P@ssw0rd!!2026', /common/],
    ['Dragon-dragon-1', /common/],
    ['Aa1!1!1!1!1!1', /common/],
  ])('may not be %s', (password, problem) => {
    expect(passwordProblem(password)).toMatch(problem);
  });

  it('may not contain the name of its user', () => {
    expect(passwordProblem('Marguerite-1998!', ['marguerite'])).toMatch(/username/);
    expect(passwordProblem('Keel-and-rudder-7', ['ann', undefined])).toBeUndefined();
  });
});
