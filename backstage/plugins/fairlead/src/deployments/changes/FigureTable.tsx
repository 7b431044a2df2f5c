import { Flex } from '@backstage/ui';
import { EntityLink, useSome } from '../../parts';
import { Heading } from '../Facts';
import { duration, number } from '../words';
import styles from './changes.module.css';
import type { FigureLineFragment, SpreadsFragment } from './changes.generated';

const none = '–';
const half = (s: SpreadsFragment | null) =>
  s?.count ? duration(s.median) : none;
const rate = (n: number | null) => (n === null ? none : `${number(n)} %`);

type Cell = [title: string, value: (l: FigureLineFragment) => string];

const cells: Cell[] = [
  ['Deployments', l => number(l.deployments)],
  ['A day', l => number(l.perDay, 2)],
  ['Failed', l => rate(l.failureRate)],
  ['Lead time', l => half(l.leadTime)],
  ['To recover', l => half(l.recovery)],
  ['Proposals', l => number(l.proposals)],
  ['Merged', l => number(l.merged)],
  ['Reworked', l => rate(l.reworkRate)],
];

const ofAgents: Cell[] = [
  ...cells,
  ['Refused', l => number(l.refused)],
  ['Tokens', l => (l.tokens === null ? none : number(l.tokens, 0))],
  [
    'Cost for each merged',
    l => (l.costPerMerged === null ? none : number(l.costPerMerged, 2)),
  ],
];

/** The figures of teams, services or agents. */
export const FigureTable = (props: {
  title: string;
  of: FigureLineFragment[];
  agents?: boolean;
}) => {
  const { title, of, agents } = props;
  const columns = agents ? ofAgents : cells;
  const [some, more] = useSome(of, 50);
  if (of.length === 0) return null;
  return (
    <Flex direction="column" gap="2">
      <Heading small>{title}</Heading>
      <div
        className={styles.scroll}
        role="region"
        aria-label={title}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what can be scrolled has to be reached by the keyboard
        tabIndex={0}
      >
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              {columns.map(([name]) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {some.map(line => (
              <tr key={line.name ?? ''}>
                <th scope="row">
                  {line.name?.includes(':') ? (
                    <EntityLink of={line.name} />
                  ) : (
                    line.name ?? 'nobody'
                  )}
                </th>
                {columns.map(([name, value]) => (
                  <td key={name}>{value(line)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more}
    </Flex>
  );
};
