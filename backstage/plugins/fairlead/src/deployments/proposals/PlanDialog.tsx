import { Button, Dialog, DialogBody, DialogFooter, Flex } from '@backstage/ui';
import { useId, type FormEvent, type ReactNode } from 'react';
import { DialogTitle, FaultPanel, useParam } from '../../parts';
import { Focused } from './Focused';
import { Made } from './Made';
import { Notes, Plan } from './Plan';
import { parameter } from './Proposals';
import { Requested } from './Requested';
import { Undone } from './Undone';
import { usePlan, type Planning, type Proposing } from './usePlan';
import styles from '../../parts/long.module.css';

interface PlanDialogProps<V extends object> {
  title: string;
  /** What proposes it. */
  by: Proposing<V>;
  /** What is asked for; undefined while something is missing. */
  input(): V | undefined;
  /** Where one says what is asked for. */
  children: ReactNode;
  onClose(): void;
}

/** What went wrong, and what helps where that is more than words. */
const Trouble = <V extends object>({ of }: { of: Planning<V> }) => {
  const { approval, undone, proposal } = of.fault?.details ?? {};
  if (!of.fault) return null;
  return (
    <Flex direction="column" gap="2">
      <FaultPanel fault={of.fault} />
      {typeof approval === 'string' && <Requested id={approval} />}
      {typeof undone === 'string' && of.plan && (
        <Undone
          proposal={typeof proposal === 'string' ? proposal : undefined}
          onAnew={() => of.propose(true)}
        />
      )}
    </Flex>
  );
};

const Shown = <V extends object>({ of }: { of: Planning<V> }) => {
  const { plan, made } = of;
  if (made) return <Made of={made} />;
  if (!plan) return null;
  return plan.state === 'planned' ? (
    <Flex direction="column" gap="4">
      <Focused title={plan.title} />
      <Notes of={plan.notes} />
      <Plan of={plan} />
    </Flex>
  ) : (
    <Made of={plan} />
  );
};

/** The buttons that lead from what is asked for to its proposal. */
const Buttons = <V extends object>(props: {
  of: Planning<V>;
  /** The form that leads to the plan. */
  form: string;
  look(): void;
  close(): void;
}) => {
  const { of, form, look, close } = props;
  const { plan, made, running, fault } = of;
  if (made || (plan && plan.state !== 'planned')) {
    return <Button onPress={close}>Done</Button>;
  }
  if (!plan) {
    return (
      <>
        <Button variant="secondary" onPress={close}>
          Cancel
        </Button>
        <Button type="submit" form={form} isPending={running}>
          Show the plan
        </Button>
      </>
    );
  }
  const changed =
    typeof fault?.details?.planHash === 'string' && fault.code === 'conflict';
  return (
    <>
      <Button variant="secondary" isDisabled={running} onPress={of.back}>
        Back
      </Button>
      {changed ? (
        <Button isPending={running} onPress={look}>
          Show the plan anew
        </Button>
      ) : (
        <Button isPending={running} onPress={() => of.propose()}>
          Propose
        </Button>
      )}
    </>
  );
};

/** Shows the plan of a change first, and has just that proposed. */
export function PlanDialog<V extends object>(props: PlanDialogProps<V>) {
  const { title, by, input, children, onClose } = props;
  const planning = usePlan(by);
  const [, open] = useParam(parameter);
  const form = useId();
  const { plan, made } = planning;
  const close = () => {
    onClose();
    const id = made?.id || (plan?.state !== 'planned' && plan?.id);
    if (id) open(id);
  };
  const look = () => {
    const asked = input();
    if (asked) planning.look(asked);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    look();
  };
  return (
    <Dialog
      isOpen
      isDismissable={false}
      onOpenChange={now => now || close()}
      width="min(56rem, 94vw)"
    >
      <DialogTitle>{title}</DialogTitle>
      <DialogBody className={styles.long}>
        <Flex direction="column" gap="4">
          {!plan && !made && (
            <form id={form} onSubmit={submit} noValidate>
              {children}
            </form>
          )}
          <Shown of={planning} />
          {!made && <Trouble of={planning} />}
        </Flex>
      </DialogBody>
      <DialogFooter>
        <Buttons of={planning} form={form} look={look} close={close} />
      </DialogFooter>
    </Dialog>
  );
}
