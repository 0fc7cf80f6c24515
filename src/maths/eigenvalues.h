/* Eigenvalues and eigenvectors of small symmetric matrices. */
#ifndef SVMP_MATHS_EIGENVALUES_H
#define SVMP_MATHS_EIGENVALUES_H

#include <stddef.h>

/* a (n*n, both triangles) = sum_k value[k] v_k v_k'; v_k becomes row k of a. `workspace` has n numbers. Householder's
 * tridiagonal form, then QL with implicit shifts; Returns 0 if an eigenvalue did not converge or an entry is not
 * finite. */
int svmp_eigen_symmetric(size_t n, double *a, double *value, double *workspace);

#endif
