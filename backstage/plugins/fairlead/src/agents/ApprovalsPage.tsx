import { useAppSearchParams } from '@backstage/frontend-plugin-api';
import { Container, Flex } from '@backstage/ui';
import { useState } from 'react';
import { Notice } from '../parts';
import { Connected } from '../client';
import { ApprovalView } from './ApprovalView';
import { Others } from './Others';
import { Waiting } from './Waiting';

const Approvals = () => {
  const [params, setParams] = useAppSearchParams();
  const [said, setSaid] = useState('');
  const id = params.get('id');
  return (
    <Flex direction="column" gap="6">
      <div role="status">
        {said && <Notice status="success" icon title={said} />}
      </div>
      {id ? (
        <ApprovalView
          key={id}
          id={id}
          onDone={setSaid}
          onBack={() => setParams({})}
        />
      ) : (
        <>
          <Waiting onDone={setSaid} />
          <Others />
        </>
      )}
    </Flex>
  );
};

/** Requests for approval: those that wait for the viewer, and all others. */
export const ApprovalsPage = () => (
  <Connected>
    <Container py="4">
      <Approvals />
    </Container>
  </Connected>
);
