/** An act, as far as it tells of the agent that did it. */
export interface SeenAct {
  time: string;
  action: string;
  status: string;
}

/** An agent, as the record has it. */
export interface Acting {
  agent: string;
  /** Whom it acted for, references; not all where there are many. */
  subjects: string[];
  subjectCount: number;
  acts: number;
  refused: number;
  last: SeenAct;
}

/** What an agent has or waits for; whose it is. */
export interface Had {
  agent: string | null;
  person: string;
}

/** What tells of agents. */
export interface Traces {
  acting: Acting[];
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
  /** How many others it acted for. */
  others: number;
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
      others: 0,
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
  for (const {
    agent: name,
    subjects,
    subjectCount,
    ...told
  } of traces.acting) {
    for (const person of ['', ...subjects]) meet(name, person);
    const others = subjectCount - subjects.length;
    Object.assign(agents.get(name) ?? {}, told, { others });
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
