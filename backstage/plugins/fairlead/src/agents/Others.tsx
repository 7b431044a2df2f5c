import { useAppSearchParams } from '@backstage/frontend-plugin-api';
import { Flex, Select, Text } from '@backstage/ui';
import { useLiveQuery } from '../client';
import { Answer, Pager, usePaging } from '../parts';
import styles from './agents.module.css';
import { ApprovalsDocument } from './approvals.generated';
import { ApprovalTable } from './ApprovalTable';
import { approvalChanges } from './requests';

const states = ['pending', 'granted', 'denied', 'used', 'expired'];

function nothing(state: string | undefined, more: boolean): string {
  if (more) return 'None on this page; there are older ones.';
  return state ? `None is ${state}.` : 'There are no other requests.';
}

/** The requests that do not wait for the viewer: own ones and decided ones. */
export const Others = () => {
  const [params, setParams] = useAppSearchParams();
  const state = states.find(s => s === params.get('state'));
  const paging = usePaging(state);
  const others = useLiveQuery({
    query: ApprovalsDocument,
    variables: { state, first: 50, after: paging.after },
    changes: approvalChanges,
  });
  return (
    <Flex direction="column" gap="3">
      <Flex justify="between" align="end">
        <Text as="h2" variant="title-small">
          Others
        </Text>
        <Select
          className={styles.select}
          label="State"
          size="small"
          value={state ?? 'all'}
          onChange={key =>
            setParams(key === 'all' ? {} : { state: String(key) }, {
              replace: true,
            })
          }
          options={['all', ...states].map(s => ({ value: s, label: s }))}
        />
      </Flex>
      <Answer of={others}>
        {data => {
          const items = data.approvals?.items.filter(r => !r.mayDecide) ?? [];
          return (
            <>
              {items.length === 0 ? (
                <Text color="secondary">
                  {nothing(state, Boolean(data.approvals?.nextCursor))}
                </Text>
              ) : (
                <ApprovalTable of={items} label="Other requests" decided />
              )}
              <Pager
                of={paging}
                next={data.approvals?.nextCursor}
                what="requests"
              />
            </>
          );
        }}
      </Answer>
    </Flex>
  );
};
