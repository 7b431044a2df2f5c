/** An act, as far as it tells of the agent that did it. */
export interface SeenAct {
  time: string;
  action: string;
  target: string | null;
  subject: string;
  agent: string | null;
  status: string;
}

/** What an agent has or waits for; whose it is. */
export interface Had {
  agent: string | null;
  person: string;
}

/** What tells of agents. */
export interface Traces {
  acts: SeenAct[];
  leases: Had[];
  previews: Had[];
  /** Requests for approval that are pending. */
  requests: { agent: string | null; subject: string }[];
  /** Proposals that are not merged or closed. */
  proposals: Had[];
}

/** An agent, and what is known of it. */
export interface Agent {
  name: string;
  /** Whom it acts for, references. */
  persons: string[];
  last?: SeenAct;
  acts: number;
  refused: number;
  leases: number;
  previews: number;
  requests: number;
  proposals: number;
}

/** Tells by their traces which agents there are, those that acted last first. */
export function gather(traces: Traces): Agent[] {
  const agents = new Map<string, Agent>();
  const meet = (name: string | null, person: string): Agent | undefined => {
    if (!name) return undefined;
    const agent = agents.get(name) ?? {
      name,
      persons: [],
      acts: 0,
      refused: 0,
      leases: 0,
      previews: 0,
      requests: 0,
      proposals: 0,
    };
    agents.set(name, agent);
    if (person && !agent.persons.includes(person)) agent.persons.push(person);
    return agent;
  };
  for (const act of traces.acts) {
    const agent = meet(act.agent, act.subject);
    if (!agent) continue;
    agent.acts++;
    if (act.status === 'refused') agent.refused++;
    if (!agent.last || act.time > agent.last.time) agent.last = act;
  }
  for (const kind of ['leases', 'previews', 'proposals'] as const) {
    for (const { agent, person } of traces[kind]) {
      const met = meet(agent, person);
      if (met) met[kind]++;
    }
  }
  for (const { agent, subject } of traces.requests) {
    const met = meet(agent, subject);
    if (met) met.requests++;
  }
  agents.forEach(agent => agent.persons.sort());
  const time = (agent: Agent) => agent.last?.time ?? '';
  return [...agents.values()].sort(
    (a, b) =>
      time(b).localeCompare(time(a)) || a.name.localeCompare(b.name, 'en'),
  );
}
