export * from './ChangesPage';
