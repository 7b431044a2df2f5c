import {
  Cell,
  Column,
  Link,
  Row,
  TableBody,
  TableHeader,
  TableRoot,
  Text,
} from '@backstage/ui';
import type { LiveQuery } from '../client';
import { Answer, Countdown } from '../parts';
import styles from './agents.module.css';
import type { HeldPreviewsQuery } from './agents.generated';
import { Ref, Who } from './Fields';
import { usePreviewHref } from './links';
import { State } from './State';
import { isAbsent } from './useTraces';

/** Previews that agents have running, and how long for. */
export const HeldPreviews = (props: {
  of: LiveQuery<HeldPreviewsQuery>;
  /** What is said where there is none. */
  none: string;
}) => {
  const { of, none } = props;
  const href = usePreviewHref();
  if (isAbsent(of)) {
    return <Text color="secondary">There are no previews here.</Text>;
  }
  return (
    <Answer
      of={of}
      empty={{
        when: d => d.previewEnvironments?.items.length === 0,
        text: none,
      }}
    >
      {data => (
        <>
          <div className={styles.scroll}>
            <TableRoot aria-label="Previews">
              <TableHeader>
                <Column isRowHeader>Revision</Column>
                <Column>Of</Column>
                <Column>For</Column>
                <Column>Phase</Column>
                <Column>Ends in</Column>
              </TableHeader>
              <TableBody>
                {data.previewEnvironments?.items.map(p => (
                  <Row key={p.id} id={p.id}>
                    <Cell>
                      <Link href={href(p.id)}>{p.revision}</Link>
                    </Cell>
                    <Cell>
                      <Ref of={p.service} />
                    </Cell>
                    <Cell>
                      <Who subject={p.person} agent={p.agent} />
                    </Cell>
                    <Cell>
                      <State of={p.phase} />
                    </Cell>
                    <Cell>
                      <Countdown at={p.expiresAt} />
                    </Cell>
                  </Row>
                ))}
              </TableBody>
            </TableRoot>
          </div>
          {data.previewEnvironments?.nextCursor && (
            <Text color="secondary">
              There are more; these are the newest 200.
            </Text>
          )}
        </>
      )}
    </Answer>
  );
};
