export * from './api';
export * from './Connected';
export * from './useAct';
export * from './useChanges';
export * from './useLiveQuery';
export * from './useViewer';
