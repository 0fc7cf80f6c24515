/* The part of a model that one of several processes needs: its own nodes, the halo, and the factors that touch its own
 * nodes. It is an ordinary model, and its own nodes move to the same bits as in the whole. */
#ifndef SVMP_MODEL_MODEL_PART_H
#define SVMP_MODEL_MODEL_PART_H

#include "base/packing.h"
#include "model/model.h"

/* owner[v] is the process of node v. The whole may be freed afterwards; the part copies its identity, if it is known.
 */
svmp_status svmp_model_part(const svmp_model *whole, const uint32_t *owner, uint32_t rank, svmp_model **part);

/* The same of an agent, which knows nothing of others but their nodes: leaves, discrete unknowns and monitored values
 * are left out. */
svmp_status svmp_model_agent_part(const svmp_model *whole, const uint32_t *owner, uint32_t rank, svmp_model **part);

/* Writes the part of an agent to bytes, or reads it, for a graph with these peers. */
void svmp_model_pack(packing *p, const svmp_peers *peers, svmp_model *part);

#endif
