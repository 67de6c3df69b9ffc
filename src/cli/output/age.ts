export { age } from '../../api/age.ts';
