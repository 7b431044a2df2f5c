import { ConfigReader } from '@backstage/config';
import { readProviders } from './config';

const read = (fairlead: unknown) =>
  readProviders(
    new ConfigReader({ catalog: { providers: { fairlead } } } as any),
  );

describe('readProviders', () => {
  it('reads nothing where nothing is configured', () => {
    expect(readProviders(new ConfigReader({}))).toEqual([]);
  });

  it('gives defaults', () => {
    expect(read({ main: { url: 'https://f.test/', token: 't' } })).toEqual([
      {
        id: 'main',
        url: 'https://f.test',
        token: 't',
        filter: undefined,
        schedule: {
          frequency: { minutes: 15 },
          initialDelay: { minutes: 15 },
          timeout: { minutes: 5 },
        },
      },
    ]);
  });

  it('reads all that can be set, of several servers', () => {
    const schedule = { frequency: { hours: 1 }, timeout: { minutes: 1 } };
    const filter = { kind: { $in: ['Component', 'API'] } };
    const [one, two] = read({
      one: { url: 'http://f.test/under/', token: 't', filter, schedule },
      two: { url: 'https://g.test', token: 'u' },
    });
    expect(one).toMatchObject({ url: 'http://f.test/under', filter, schedule });
    expect(two).toMatchObject({ id: 'two', token: 'u' });
  });

  it.each([
    ['no url', { token: 't' }],
    ['no token', { url: 'https://f.test' }],
    ['no address', { url: 'fairlead', token: 't' }],
    ['another protocol', { url: 'ftp://f.test', token: 't' }],
    ['a password in it', { url: 'https://a:secret@f.test', token: 't' }],
    [
      'no predicate',
      { url: 'https://f.test', token: 't', filter: { a: { $b: 1 } } },
    ],
    ['no schedule', { url: 'https://f.test', token: 't', schedule: { a: 1 } }],
  ])('refuses %s, and shows no secret', (_, one) => {
    expect(() => read({ one })).toThrow(/^(?!.*secret)/s);
  });
});
