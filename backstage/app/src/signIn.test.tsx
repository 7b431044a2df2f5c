import { providersOf, understood } from './signIn';

describe('providersOf', () => {
  it('makes a card for each provider, and none for what there is not', () => {
    expect(
      providersOf(['guest', 'github', 'oidc']).map(p =>
        typeof p === 'string' ? p : `${p.id} ${p.title} ${p.apiRef.id}`,
      ),
    ).toEqual([
      'guest',
      'github GitHub core.auth.github',
      'oidc Single sign-on app.auth.oidc',
    ]);
    expect(() => providersOf(['github', 'githup'])).toThrow(
      /githup.*guest, atlassian/,
    );
  });
});

describe('understood', () => {
  it('tells who is unknown that they are, and leaves what is clear', () => {
    const unknown = new Error(
      'Login failed; caused by Error: Failed to sign-in, unable to resolve user identity. Please verify that …',
    );
    expect(understood(unknown).message).toMatch(/catalog does not know you/);
    const other = new Error('Login failed, popup was closed');
    expect(understood(other)).toBe(other);
  });
});
