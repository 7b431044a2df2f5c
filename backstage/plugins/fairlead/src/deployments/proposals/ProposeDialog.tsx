import { Button, Flex, Text } from '@backstage/ui';
import { useState } from 'react';
import {
  changeOf,
  emptyForm,
  linesIn,
  problemsOf,
  type ChangeForm,
} from './change';
import { ChangeFields } from './ChangeFields';
import { PlanDialog } from './PlanDialog';
import {
  ProposeChangeDocument,
  type ProposeChangeMutationVariables,
} from './proposals.generated';
import { Why } from './Why';

interface ProposeProps {
  service: string;
  environment: { name: string; protected: boolean };
  /** Images that run there now. */
  images?: string[];
}

type Input = Omit<
  ProposeChangeMutationVariables,
  'key' | 'planHash' | 'dryRun'
>;

const ProposeDialog = (props: ProposeProps & { onClose(): void }) => {
  const { service, environment, images, onClose } = props;
  const [form, setForm] = useState<ChangeForm>(emptyForm);
  const [tried, setTried] = useState(false);
  const set = (change: Partial<ChangeForm>) =>
    setForm(was => ({ ...was, ...change }));
  const problems = tried ? problemsOf(form) : {};
  const input = (): Input | undefined => {
    setTried(true);
    if (Object.keys(problemsOf(form)).length > 0) return undefined;
    return {
      service,
      environment: environment.name,
      change: changeOf(form),
      reason: form.reason.trim(),
      evidence: linesIn(form.evidence),
    };
  };
  return (
    <PlanDialog
      title={`Propose a change to ${environment.name}`}
      by={ProposeChangeDocument}
      input={input}
      onClose={onClose}
    >
      <Flex direction="column" gap="4">
        {environment.protected && (
          <Text as="p" color="secondary">
            {environment.name} is protected: policy may want a digest, evidence
            and somebody’s approval. The plan will tell.
          </Text>
        )}
        <ChangeFields
          form={form}
          set={set}
          problems={problems}
          images={images}
        />
        <Why
          reason={form.reason}
          evidence={form.evidence}
          problem={problems.reason}
          onReason={reason => set({ reason })}
          onEvidence={evidence => set({ evidence })}
          hint="What shows that it is good, one on each line: tests, a scan, an objective; with links."
        />
      </Flex>
    </PlanDialog>
  );
};

/** Opens the dialog in which a change of an environment is proposed. */
export const ProposeButton = (props: ProposeProps) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        size="small"
        aria-label={`Propose change to ${props.environment.name}`}
        onPress={() => setOpen(true)}
      >
        Propose change
      </Button>
      {open && <ProposeDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
};
