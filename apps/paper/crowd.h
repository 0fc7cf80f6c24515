/* Crowds: questions, workers, answers; the data of models/crowd_log.bug. */
#ifndef SVMP_PAPER_CROWD_H
#define SVMP_PAPER_CROWD_H

#include "paper.h"
#include "paper_random.h"

typedef struct crowd {
    size_t questions, workers, count;
    size_t *question, *worker; /* of each answer, from 0 */
    double *answer;
    double *truth;          /* of each question */
    unsigned char *control; /* whether the question's answer is known */
    double *bias, *lnu;     /* of each worker, where the crowd was drawn from the model; or NULL */
} crowd;

/* A crowd of the shape of the paper's: each question gets 1 to 5 workers, each worker 3 questions or more, answers
 * drawn from the model; `controls` questions are known. */
int crowd_draw(dice *d, size_t questions, size_t controls, crowd *made);

/* Answers (item, worker, value) and truth (item, value) of files. */
int crowd_read(const char *answers, const char *truth, const char *value_column, crowd *made);

/* Whether a table's crowd is one for figure 6: large enough to be measured, and in units that suit the model's priors.
 * Returns 0, or an exit status when it has said what is wrong. `path`: of the answers. */
int crowd_suits(const crowd *c, const char *path, size_t controls);

/* Of a table's crowd a random part as in the paper: 1 to 5 of each question's answers, workers with fewer than 3 left
 * out where that leaves the question an answer; `controls` questions become known. */
int crowd_part(dice *d, const crowd *all, size_t controls, crowd *part);
void crowd_choose_controls(dice *d, crowd *c, size_t controls);
void crowd_free(crowd *c);

/* Writes the data, and reads the model with them. With `boxed`, log nu is kept in [-3, 3]. */
int crowd_model(const task *t, const crowd *c, int boxed, svmp_model **model);

/* The places of the unknown answers x among the particles' variables, and their true values; `variable` and `truth`
 * have room for all questions. Returns how many. */
size_t crowd_unknown(const crowd *c, const svmp_particles *particles, size_t *variable, double *truth);

#endif
