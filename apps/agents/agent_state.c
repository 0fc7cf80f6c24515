#include "agent_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/whole_file.h"
#include "front/error_output.h"

/* "svmp state 1\n", run, agent, finished, two sizes; the two; a checksum of all before it. */
static const char magic[] = "svmp state 1\n";
enum { HEAD = sizeof magic - 1 + 8 + 4 + 4 + 8 + 8 };

static void put(unsigned char *to, int bytes, uint64_t value) {
    for (int k = 0; k < bytes; k++) to[k] = (unsigned char)(value >> 8 * k);
}

static uint64_t take(const unsigned char *from, int bytes) {
    uint64_t value = 0;
    for (int k = 0; k < bytes; k++) value |= (uint64_t)from[k] << 8 * k;
    return value;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Files that a killed process was writing. */
static void remove_unfinished(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder)) != NULL;) {
        const size_t length = strlen(e->d_name);
        char *file = length > 4 && strcmp(e->d_name + length - 4, ".new") == 0 ? swarm_path(path, e->d_name, "") : NULL;
        if (file) unlink(file);
        free(file);
    }
    if (folder) closedir(folder);
}

static int take_lock(agent_state *state) {
    char path[4096];
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (mkdir(state->folder, 0777) != 0 && errno != EEXIST)
        return report_error(EXIT_FAILED, "Agent '%s': cannot make the state folder '%s': %s.", state->name,
                            state->folder, strerror(errno));
    snprintf(path, sizeof path, "%s/lock", state->folder);
    state->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (state->lock < 0)
        return report_error(EXIT_FAILED, "Agent '%s': cannot write to the state folder '%s': %s.", state->name,
                            state->folder, strerror(errno));
    if (fcntl(state->lock, F_SETLK, &whole) == 0) return remove_unfinished(state->folder), 0;
    return report_error(EXIT_FAILED, "Agent '%s': another process uses the state folder '%s'.", state->name,
                        state->folder);
}

unsigned char *state_bytes(const char *path, size_t *size) {
    unsigned char *bytes = NULL, *grown;
    size_t got = 1, block = 1 << 20;
    FILE *file = fopen(path, "rb");
    for (*size = 0; file && got > 0; *size += got) {
        if ((grown = realloc(bytes, *size + block)) == NULL) break;
        bytes = grown;
        got = fread(bytes + *size, 1, block, file);
    }
    if (file) fclose(file);
    return bytes;
}

/* The checksum is right, and so are the sizes; a line begins with its round. */
static int is_undamaged(const unsigned char *bytes, size_t size) {
    static const unsigned char key[SEAL_KEY] = {1}; /* a checksum, not a secret */
    const unsigned char *at = bytes + sizeof magic - 1;
    if (size < HEAD + SEAL_TAG || memcmp(bytes, magic, sizeof magic - 1) != 0 ||
        !seal_is_right(key, size - SEAL_TAG, bytes, bytes + size - SEAL_TAG))
        return 0;
    const uint64_t all = size - HEAD - SEAL_TAG, part = take(at + 16, 8), line = take(at + 24, 8);
    return part <= all && line == all - part && line >= 4;
}

int state_is_whole(const unsigned char *bytes, size_t size, uint64_t run, uint32_t agent, uint32_t *round) {
    const unsigned char *at = bytes + sizeof magic - 1;
    if (!is_undamaged(bytes, size) || take(at, 8) != run || take(at + 8, 4) != agent) return 0;
    *round = (uint32_t)take(bytes + HEAD + take(at + 16, 8), 4);
    return 1;
}

static int check(agent_state *state, const unsigned char *bytes, size_t size, int is_kept) {
    const unsigned char *at = bytes + sizeof magic - 1;
    if (!is_undamaged(bytes, size) && is_kept)
        return report_error(EXIT_DONE, "Agent '%s': the state '%s' is damaged; its keepers are asked for it.",
                            state->name, state->path);
    if (!is_undamaged(bytes, size))
        return report_error(EXIT_FAILED,
                            "Agent '%s': the state '%s' is damaged. Without it the run of all agents must begin anew.",
                            state->name, state->path);
    if (take(at, 8) != state->run || take(at + 8, 4) != state->agent)
        return report_error(EXIT_WRONG, "Agent '%s': the folder '%s' has the state of another agent or plan.",
                            state->name, state->folder);
    state->finished = take(at + 12, 4) != 0;
    state->part_size = (size_t)take(at + 16, 8);
    state->line_size = (size_t)take(at + 24, 8);
    state->part = bytes + HEAD;
    state->line = state->part + state->part_size;
    state->there = 1;
    return 0;
}

int state_open(const char *folder, const svmp_part_about *about, int is_kept, agent_state *state) {
    *state = (agent_state){.run = about->run, .agent = (uint32_t)about->agent, .name = about->name, .lock = -1};
    if (strlen(folder) >= sizeof state->folder) return report_error(EXIT_WRONG, "The path '%s' is too long.", folder);
    snprintf(state->folder, sizeof state->folder, "%s", folder);
    snprintf(state->path, sizeof state->path, "%s/state", folder);
    int status = take_lock(state);
    if (status == 0 && access(state->path, F_OK) == 0) {
        state->bytes = state_bytes(state->path, &state->size);
        status = state->bytes ? check(state, state->bytes, state->size, is_kept)
                              : report_error(EXIT_FAILED, "Agent '%s': cannot read '%s'.", state->name, state->path);
    }
    return status;
}

void state_close(agent_state *state) {
    free(state->bytes);
    if (state->lock >= 0) close(state->lock);
    *state = (agent_state){.lock = -1};
}

/* The first number is random, in case two processes have folders of their own, and a quarter of all numbers at most. */
int state_count_start(const agent_state *state, uint32_t *boot) {
    char path[4096], text[32] = "", *end = text;
    uint32_t random;
    snprintf(path, sizeof path, "%s/boot", state->folder);
    FILE *file = fopen(path, "r");
    if (file) {
        const char *line = fgets(text, sizeof text, file);
        const unsigned long long last = line ? strtoull(text, &end, 10) : 0;
        fclose(file);
        if (end == text || *end != '\n' || last > UINT32_MAX)
            return report_error(EXIT_FAILED, "Agent '%s': the file '%s' is damaged.", state->name, path);
        if (last == UINT32_MAX)
            return report_error(EXIT_FAILED,
                                "Agent '%s' has been started too often: '%s' has the last number of a start. The run "
                                "of all agents must begin anew.",
                                state->name, path);
        *boot = (uint32_t)last + 1;
    } else if (errno != ENOENT) {
        return report_error(EXIT_FAILED, "Agent '%s': cannot read '%s': %s.", state->name, path, strerror(errno));
    } else {
        seal_random(sizeof random, &random);
        *boot = random % (UINT32_MAX / 4) + 1;
    }
    return state_set_start(state, *boot);
}

int state_set_start(const agent_state *state, uint32_t boot) {
    char path[4096], text[32];
    whole_file output = {0};
    snprintf(path, sizeof path, "%s/boot", state->folder);
    snprintf(text, sizeof text, "%lu\n", (unsigned long)boot);
    if (svmp_whole_write(path, text, strlen(text), 1, &output)) return 0;
    return report_error(EXIT_FAILED, "Agent '%s': %s", state->name, output.error);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static int write_blocks(const agent_state *state, size_t count, const seal_block *blocks, whole_file *output) {
    int good = svmp_whole_open_again(state->path, output);
    for (size_t k = 0; k < count && good; k++) good = svmp_whole_put(output, blocks[k].bytes, blocks[k].size);
    good = good && svmp_whole_finish(output);
    svmp_whole_close(output);
    return good;
}

/* The blocks as one. */
static unsigned char *join_blocks(size_t count, const seal_block *blocks, size_t *size) {
    unsigned char *bytes, *at;
    *size = 0;
    for (size_t k = 0; k < count; k++) *size += blocks[k].size;
    if ((bytes = at = malloc(*size)) == NULL) return NULL;
    for (size_t k = 0; k < count; at += blocks[k++].size) memcpy(at, blocks[k].bytes, blocks[k].size);
    return bytes;
}

int state_write(const agent_state *state, const seal_block *part, const seal_block *line, int finished,
                unsigned char **written, size_t *size, char *error, size_t room) {
    static const unsigned char key[SEAL_KEY] = {1};
    unsigned char head[HEAD], tag[SEAL_TAG], *at = head + sizeof magic - 1;
    const seal_block blocks[] = {{head, sizeof head}, *part, *line, {tag, sizeof tag}};
    enum { BLOCKS = sizeof blocks / sizeof *blocks };
    whole_file output = {0};
    memcpy(head, magic, sizeof magic - 1);
    put(at, 8, state->run);
    put(at + 8, 4, state->agent);
    put(at + 12, 4, (uint64_t)finished);
    put(at + 16, 8, part->size);
    put(at + 24, 8, line->size);
    seal_blocks(key, BLOCKS - 1, blocks, tag);
    if (written && (*written = join_blocks(BLOCKS, blocks, size)) == NULL)
        return snprintf(error, room, "out of memory."), 0;
    if (write_blocks(state, BLOCKS, blocks, &output)) return 1;
    snprintf(error, room, "%s", output.error);
    if (written) free(*written);
    return 0;
}

int state_adopt(agent_state *state, unsigned char *bytes, size_t size) {
    whole_file output = {0};
    free(state->bytes);
    state->bytes = bytes;
    state->size = size;
    if (!write_blocks(state, 1, &(seal_block){bytes, size}, &output))
        return report_error(EXIT_FAILED, "Agent '%s': cannot write its state: %s", state->name, output.error);
    return check(state, bytes, size, 0);
}
