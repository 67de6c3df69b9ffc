import { startApiServerReviews } from './api-server-reviews.ts';
import { loginCases } from './login-cases.ts';

loginCases('kube-apiserver', startApiServerReviews);
