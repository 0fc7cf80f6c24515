/* A model cut down to what one of several processes needs: its own nodes, the halo, and the factors that touch its own
 * nodes. It is a model like others, and moves its own nodes to the same bits as the whole would. */
#ifndef SVMP_MODEL_PART_H
#define SVMP_MODEL_PART_H

#include "model/model.h"

/* owner[v] is the process of node v. The whole may go afterwards; if it knows its identity, the part has it too. */
svmp_status svmp_model_part(const svmp_model *whole, const uint32_t *owner, uint32_t rank, svmp_model **part);

#endif
