import { describeSuites } from '../api-server/server.ts';
import { SUITES } from '../api-server/suites.ts';
import { startSandboxServer } from '../support/sandbox-server.ts';

describeSuites(SUITES, startSandboxServer);
