export * from './api';
export * from './Connected';
export * from './useAct';
export * from './useLiveQuery';
