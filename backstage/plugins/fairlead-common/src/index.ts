/**
 * Talks to Fairlead from a browser or from Node: requests, live changes and
 * errors.
 *
 * @packageDocumentation
 */
export * from './client';
export * from './errors';
