import { gather, type Traces } from './gather';

const none: Traces = {
  acting: [],
  leases: [],
  previews: [],
  requests: [],
  proposals: [],
};

describe('gather', () => {
  it('tells of nobody by nothing, nor by what people do themselves', () => {
    expect(gather(none)).toEqual([]);
    expect(
      gather({
        ...none,
        leases: [{ agent: null, person: 'user:default/alice' }],
      }),
    ).toEqual([]);
  });

  it('counts what agents did, have and wait for, the last to act first', () => {
    const act = (time: string) => ({
      time,
      status: 'ok',
      action: 'gitops.propose',
    });
    const found = gather({
      acting: [
        {
          agent: 'codex',
          subjects: ['user:default/bob'],
          subjectCount: 1,
          acts: 1,
          refused: 0,
          last: act('2026-01-03'),
        },
        {
          agent: 'claude',
          subjects: ['user:default/bob', 'user:default/alice'],
          subjectCount: 7,
          acts: 1_000_000,
          refused: 3,
          last: act('2026-01-02'),
        },
      ],
      leases: [{ agent: 'claude', person: 'user:default/alice' }],
      previews: [{ agent: 'quiet', person: 'user:default/carol' }],
      requests: [{ agent: 'claude', subject: 'user:default/alice' }],
      proposals: [{ agent: 'codex', person: 'user:default/bob' }],
    });
    expect(found.map(a => a.name)).toEqual(['codex', 'claude', 'quiet']);
    expect(found[1]).toEqual({
      name: 'claude',
      persons: ['user:default/alice', 'user:default/bob'],
      others: 5,
      last: act('2026-01-02'),
      acts: 1_000_000,
      refused: 3,
      leases: 1,
      previews: 0,
      requests: 1,
      proposals: 0,
    });
  });
});
