import { Alert, Button } from '@backstage/ui';
import type { Fault } from '@fairlead/backstage-plugin-common';

/** Says what went wrong and how to put it right. */
export const FaultPanel = (props: { fault: Fault; onRetry?: () => void }) => (
  <Alert
    role="alert"
    status={props.fault.code === 'approval_required' ? 'info' : 'danger'}
    icon
    title={props.fault.message}
    description={props.fault.fix}
    customActions={
      props.onRetry && (
        <Button size="small" variant="secondary" onPress={props.onRetry}>
          Try again
        </Button>
      )
    }
  />
);
