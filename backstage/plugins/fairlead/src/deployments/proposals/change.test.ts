import { changeOf, emptyForm, problemsOf, valueOf } from './change';

describe('a change from its form', () => {
  it.each([
    ['true', true],
    ['-1.5e3', -1500],
    ['007', '007'],
    ['1.5.0', '1.5.0'],
    ['"7"', '7'],
    ['"a" and "b"', '"a" and "b"'],
    ['', ''],
    ['null', 'null'],
  ])('reads the value %s', (text, value) => {
    expect(valueOf(text)).toBe(value);
  });

  it('has what was filled in, and nothing of what was not asked for', () => {
    const form = { ...emptyForm, tag: ' 1.5.0 ', replicas: 3 };
    expect(changeOf(form)).toEqual({ image: { tag: '1.5.0' } });
    expect(changeOf({ ...form, what: 'replicas', file: 'a.yaml' })).toEqual({
      replicas: 3,
      file: 'a.yaml',
    });
  });

  it('is told what is missing', () => {
    expect(Object.keys(problemsOf(emptyForm))).toEqual(['tag', 'reason']);
    expect(
      Object.keys(problemsOf({ ...emptyForm, what: 'set', reason: 'x' })),
    ).toEqual(['path0']);
    expect(
      problemsOf({
        ...emptyForm,
        what: 'replicas',
        reason: 'x',
        replicas: NaN,
      }),
    ).toHaveProperty('replicas');
    expect(
      problemsOf({ ...emptyForm, what: 'replicas', reason: 'x', replicas: 0 }),
    ).toEqual({});
    expect(
      problemsOf({
        ...emptyForm,
        digest: `sha256:${'a'.repeat(64)}`,
        reason: 'x',
      }),
    ).toEqual({});
  });
});
