import { placeText, sourceUrl } from './sourceUrl';

const script = ['javascript', 'alert(1)'].join(':');

const at = (repo: string) => ({
  repo,
  commit: 'abc',
  path: 'docs/run book.md',
  line: 7,
});

describe('sourceUrl', () => {
  it.each([
    [
      'https://github.com/acme/shop.git',
      undefined,
      'https://github.com/acme/shop/blob/abc/docs/run%20book.md#L7',
    ],
    [
      'https://gitlab.example.com/a/b/c',
      undefined,
      'https://gitlab.example.com/a/b/c/-/blob/abc/docs/run%20book.md#L7',
    ],
    [
      'https://git.acme.test/o/r',
      'url:https://git.acme.test/o/other/src/branch/main/',
      'https://git.acme.test/o/r/src/commit/abc/docs/run%20book.md#L7',
    ],
    [
      'https://git.acme.test/o/r',
      'https://git.acme.test/o/r/-/blob/main/a.yaml',
      'https://git.acme.test/o/r/-/blob/abc/docs/run%20book.md#L7',
    ],
    [
      'https://bitbucket.org/o/r',
      undefined,
      'https://bitbucket.org/o/r/src/abc/docs/run%20book.md#lines-7',
    ],
    [
      'https://user:secret@github.com/o/r',
      undefined,
      'https://github.com/o/r/blob/abc/docs/run%20book.md#L7',
    ],
    ['https://git.acme.test/o/r', undefined, undefined],
    [
      'https://git.acme.test/o/r',
      'https://github.com/o/r/blob/main/',
      undefined,
    ],
    ['/srv/repos/shop', undefined, undefined],
    [script, undefined, undefined],
    ['file:///srv/shop', undefined, undefined],
  ])('links %s, like %s', (repo, like, wanted) => {
    expect(sourceUrl(at(repo), like)).toBe(wanted);
  });

  it('links to nothing without a commit or a file', () => {
    const place = at('https://github.com/o/r');
    expect(sourceUrl({ ...place, commit: null })).toBeUndefined();
    expect(sourceUrl({ ...place, path: null })).toBeUndefined();
  });
});

describe('placeText', () => {
  it('leaves out what is not known', () => {
    expect(placeText({ path: 'a.yaml', line: 3 }, 4)).toBe('a.yaml:3:4');
    expect(placeText({ path: 'a.yaml', line: null }, 4)).toBe('a.yaml');
    expect(placeText({ path: 'a.yaml', line: 3 })).toBe('a.yaml:3');
  });
});
