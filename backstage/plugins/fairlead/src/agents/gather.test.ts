import { gather, type Traces } from './gather';

const none: Traces = {
  acts: [],
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
    const act = (time: string, agent: string, status: string, who: string) => ({
      time,
      agent,
      status,
      action: 'gitops.propose',
      target: null,
      subject: who,
    });
    const found = gather({
      acts: [
        act('2026-01-03', 'codex', 'ok', 'user:default/bob'),
        act('2026-01-01', 'claude', 'refused', 'user:default/bob'),
        act('2026-01-02', 'claude', 'ok', 'user:default/alice'),
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
      last: act('2026-01-02', 'claude', 'ok', 'user:default/alice'),
      acts: 2,
      refused: 1,
      leases: 1,
      previews: 0,
      requests: 1,
      proposals: 0,
    });
  });
});
