import type { AttachPolicy } from '../../api/volume.ts';
import type { Prompts } from '../prompts/prompts.ts';

export const askAttachPolicy = async (prompts: Prompts): Promise<AttachPolicy> =>
  (await prompts.select('When the device is on its node:', [
    { name: 'always', value: 'Always' },
    { name: 'while a pod needs it', value: 'OnDemand' },
  ])) as AttachPolicy;
