/* What a step rule computes, for backends that cannot call its function. Read by device code, too. */
#ifndef SVMP_STEIN_STEP_KINDS_H
#define SVMP_STEIN_STEP_KINDS_H

typedef enum step_kind { STEP_FIXED, STEP_ADAGRAD, STEP_RMSPROP, STEP_ADAM, STEP_OTHER } step_kind;

#endif
