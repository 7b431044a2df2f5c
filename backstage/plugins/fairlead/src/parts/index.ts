export * from './Answer';
export * from './CopyButton';
export * from './FaultPanel';
export * from './When';
