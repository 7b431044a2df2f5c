import { Cell, Link, Row } from '@backstage/ui';
import { Countdown } from '../parts';
import type { HeldPreviewsQuery } from './agents.generated';
import { Ref, Who } from './Fields';
import { Held, type HeldProps } from './Held';
import { usePreviewHref } from './links';
import { State } from './State';

/** Previews that agents have running, and how long for. */
export const HeldPreviews = (props: HeldProps<HeldPreviewsQuery>) => {
  const href = usePreviewHref();
  return (
    <Held
      {...props}
      label="Previews"
      columns={['Revision', 'Of', 'For', 'Phase', 'Ends in']}
      absent="There are no previews here."
      page={data => data.previewEnvironments}
    >
      {p => (
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
      )}
    </Held>
  );
};
