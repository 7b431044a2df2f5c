import '@testing-library/jest-dom';
import { configure } from '@testing-library/react';

// A machine that does much else at the time is slow, which is no failure.
configure({ asyncUtilTimeout: 15_000 });
jest.setTimeout(60_000);
