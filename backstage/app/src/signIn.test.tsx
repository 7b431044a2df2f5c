import { providersOf } from './signIn';

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
