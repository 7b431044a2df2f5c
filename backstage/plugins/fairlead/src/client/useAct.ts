import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { faultOf, type Fault } from '@fairlead/backstage-plugin-common';
import { useCallback, useState } from 'react';
import { useMutation, type AnyVariables } from 'urql';

/** An act: whether it is being done, and what the last one failed with. */
export interface Act<D, V> {
  /** Does it; gives the answer, or undefined where it failed. */
  run(variables: V): Promise<D | undefined>;
  running: boolean;
  fault?: Fault;
  /** Forgets what it failed with. */
  forget(): void;
}

/** Gives a mutation as an act of the person who looks at the page. */
export function useAct<D, V extends AnyVariables>(
  mutation: TypedDocumentNode<D, V>,
): Act<D, V> {
  const [result, execute] = useMutation<D, V>(mutation);
  const [fault, setFault] = useState<Fault>();
  const run = useCallback(
    async (variables: V) => {
      setFault(undefined);
      const { data, error } = await execute(variables);
      if (error) setFault(faultOf(error));
      return error ? undefined : data;
    },
    [execute],
  );
  const forget = useCallback(() => setFault(undefined), []);
  return { run, running: result.fetching, fault, forget };
}
