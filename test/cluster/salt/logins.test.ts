import { loginCases } from './login-cases.ts';
import { startTokenReviews } from './token-reviews.ts';

loginCases('a stand-in for the API server', startTokenReviews);
