import { Button, Dialog, DialogBody, DialogFooter, Flex } from '@backstage/ui';
import type { Fault } from '@fairlead/backstage-plugin-common';
import type { FormEvent, ReactNode } from 'react';
import { DialogTitle } from '../parts';
import { ActFault } from './ActFault';
import styles from '../parts/long.module.css';

interface ActDialogProps {
  title: string;
  /** What the button says that does it. */
  verb: string;
  destructive?: boolean;
  /** Nothing can be done yet. */
  incomplete?: boolean;
  act: { running: boolean; fault?: Fault };
  onAct: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** Asks for what an act needs, does it, and says why where that fails. */
export const ActDialog = (props: ActDialogProps) => {
  const { act, incomplete, onAct, onClose } = props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!act.running && !incomplete) onAct();
  };
  return (
    <Dialog isOpen onOpenChange={open => !open && onClose()} width={520}>
      <DialogTitle>{props.title}</DialogTitle>
      <form onSubmit={submit} style={{ display: 'contents' }}>
        <DialogBody className={styles.long}>
          <Flex direction="column" gap="4">
            {props.children}
            {act.fault && <ActFault fault={act.fault} />}
          </Flex>
        </DialogBody>
        <DialogFooter>
          <Button variant="secondary" slot="close">
            Cancel
          </Button>
          <Button
            type="submit"
            variant="primary"
            destructive={props.destructive}
            isPending={act.running}
            isDisabled={incomplete}
          >
            {props.verb}
          </Button>
        </DialogFooter>
      </form>
    </Dialog>
  );
};
