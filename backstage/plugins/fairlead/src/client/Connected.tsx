import { useApi } from '@backstage/core-plugin-api';
import type { ReactNode } from 'react';
import { Provider } from 'urql';
import { fairleadApiRef } from './api';

/** Gives everything inside it the connection to Fairlead. */
export const Connected = (props: { children: ReactNode }) => (
  <Provider value={useApi(fairleadApiRef).client}>{props.children}</Provider>
);
