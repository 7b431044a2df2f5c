import { Button, Flex, Text } from '@backstage/ui';
import { useState } from 'react';
import { linesIn } from './change';
import { PlanDialog } from './PlanDialog';
import {
  ProposeRollbackDocument,
  type ProposeRollbackMutationVariables,
} from './proposals.generated';
import { Why } from './Why';

interface RollbackProps {
  service: string;
  environment: { name: string };
}

type Input = Omit<
  ProposeRollbackMutationVariables,
  'key' | 'planHash' | 'dryRun'
>;

const RollbackDialog = (props: RollbackProps & { onClose(): void }) => {
  const { service, environment, onClose } = props;
  const [reason, setReason] = useState('');
  const [evidence, setEvidence] = useState('');
  const [tried, setTried] = useState(false);
  const input = (): Input | undefined => {
    setTried(true);
    if (!reason.trim()) return undefined;
    return {
      service,
      environment: environment.name,
      reason: reason.trim(),
      evidence: linesIn(evidence),
    };
  };
  return (
    <PlanDialog
      title={`Roll ${environment.name} back`}
      by={ProposeRollbackDocument}
      input={input}
      onClose={onClose}
    >
      <Flex direction="column" gap="4">
        <Text as="p">
          The files of {environment.name} go back to the newest earlier revision
          that was healthy, by a proposal like any other. The plan tells which.
        </Text>
        <Why
          reason={reason}
          evidence={evidence}
          problem={
            tried && !reason.trim() ? 'Say why, for who reviews it.' : undefined
          }
          onReason={setReason}
          onEvidence={setEvidence}
          hint="What shows that it is needed, one on each line; the health is added."
        />
      </Flex>
    </PlanDialog>
  );
};

/** Opens the dialog in which the way back is proposed. */
export const RollbackButton = (props: RollbackProps) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        size="small"
        variant="secondary"
        aria-label={`Roll back ${props.environment.name}`}
        onPress={() => setOpen(true)}
      >
        Roll back
      </Button>
      {open && <RollbackDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
};
