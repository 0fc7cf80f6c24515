/* The scale on which tests are compared, and the limit of many at once. */
#ifndef SVMP_MATHS_TEST_LIMITS_H
#define SVMP_MATHS_TEST_LIMITS_H

/* The |z| of a standard normal variable with the same tail probability as Student's |t|, given squared: Wallace's
 * formula. */
double svmp_normal_z(double t_square, double freedom);

#endif
