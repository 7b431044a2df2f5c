import { Flex, Link, Text } from '@backstage/ui';
import type { Fault } from '@fairlead/backstage-plugin-common';
import { useApprovalHref } from '../agents/links';
import { useRequest } from '../agents/requests';
import { CopyButton, FaultPanel, When } from '../parts';

/** How far a request for approval has come, as people decide on it. */
const Request = (props: { id: string }) => {
  const request = useRequest(props.id);
  const hrefOf = useApprovalHref();
  const by = request?.decidedBy && ` by ${request.decidedBy}`;
  return (
    <Flex direction="column" gap="1" role="status">
      <Flex align="center" gap="1">
        <Link href={hrefOf(props.id)}>Request {props.id}</Link>
        <CopyButton text={props.id} what="the request" />
      </Flex>
      {request && (
        <Text>
          It is {request.state}
          {by}
          {request.reason && `: ${request.reason}`}
          {request.state === 'pending' && request.expiresAt && (
            <>
              ; it ends <When at={request.expiresAt} />
            </>
          )}
          .{request.state === 'granted' && ' Do the same again, now.'}
        </Text>
      )}
    </Flex>
  );
};

/**
 * Says why an act was refused and how to put that right; of one that a person
 * must agree to, how far the request for that has come.
 */
export const ActFault = (props: { fault: Fault }) => {
  const id = props.fault.details?.approval;
  return (
    <>
      <FaultPanel fault={props.fault} />
      {props.fault.code === 'approval_required' && typeof id === 'string' && (
        <Request id={id} />
      )}
    </>
  );
};
