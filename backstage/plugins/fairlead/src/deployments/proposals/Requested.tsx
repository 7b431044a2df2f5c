import { Link, Text } from '@backstage/ui';
import { useApprovalHref } from '../../agents/links';
import { useRequest } from '../../agents/requests';
import { Mark, type Goodness } from '../../parts';
import { Row } from '../Facts';
import { nameOf } from '../words';

const states: Record<string, Goodness> = {
  pending: 'busy',
  granted: 'good',
  denied: 'bad',
};

/** How far a request for approval has come, with the way to it. */
export const Requested = ({ id }: { id: string }) => {
  const request = useRequest(id);
  const href = useApprovalHref();
  return (
    <div role="status">
      <Row>
        <Link href={href(id)}>Request {id}</Link>
        {request && (
          <Mark is={states[request.state] ?? 'unknown'}>{request.state}</Mark>
        )}
        {request?.decidedBy && <Text>by {nameOf(request.decidedBy)}</Text>}
        {request?.reason && <Text>“{request.reason}”</Text>}
        {request?.state === 'granted' && (
          <Text>Propose it now: it is let through once.</Text>
        )}
      </Row>
    </div>
  );
};
