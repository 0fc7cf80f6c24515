/* z-values of tests, and the limit on |z| when many are done at once. */
#ifndef SVMP_MATHS_TEST_LIMITS_H
#define SVMP_MATHS_TEST_LIMITS_H

/* The |z| of a standard normal variable with the same tail probability as Student's |t|, given squared: Wallace's
 * formula. */
double svmp_normal_z(double t_square, double freedom);

#endif
