import { duration, nameOf, plural, short } from './words';

describe('words', () => {
  it('tell durations in two units', () => {
    expect(
      [
        '49h2m0s',
        '1h2m3s',
        '40m0s',
        '30s',
        '1.6s',
        '250ms',
        '0s',
        '24h0m5s',
      ].map(duration),
    ).toEqual([
      '2 d 1 h',
      '1 h 2 min',
      '40 min',
      '30 s',
      '2 s',
      '0 s',
      '0 s',
      '1 d',
    ]);
  });

  it('shorten commits alone', () => {
    expect(short('a'.repeat(40))).toBe('aaaaaaaa');
    expect(short(`1.2.3, ${'b'.repeat(40)}`)).toBe('1.2.3, bbbbbbbb');
  });

  it('leave out what goes without saying', () => {
    expect(nameOf('user:default/alice')).toBe('alice');
    expect(nameOf('user:other/alice')).toBe('user:other/alice');
    expect([plural(1, 'check'), plural(1200, 'check')]).toEqual([
      '1 check',
      '1,200 checks',
    ]);
  });
});
