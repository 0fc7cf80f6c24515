#include "swarm_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/csv_cells.h"
#include "front/error_output.h"

int hosts_find(const char *path, const char *name, host *found) {
    static const char *const agent[] = {"agent", NULL}, *const address[] = {"host", NULL},
                             *const port[] = {"port", NULL};
    csv t = {0};
    size_t who, where, gate, rows = 0;
    int status = csv_read(path, &t);
    if (status) return status;
    status = csv_column(&t, path, agent, &who);
    if (status == 0) status = csv_column(&t, path, address, &where);
    if (status == 0) status = csv_column(&t, path, port, &gate);
    for (size_t k = 0; status == 0 && k < t.rows; k++) {
        if (strcmp(csv_cell(&t, k, who), name) != 0) continue;
        rows++;
        char *end;
        const char *text = csv_cell(&t, k, gate);
        const unsigned long number = strtoul(text, &end, 10);
        if (end == text || *end || number < 1 || number > 65535)
            status = report_error(EXIT_WRONG, "%s: the port of agent '%s' is '%s', not a number from 1 to 65535.", path,
                                  name, text);
        snprintf(found->name, sizeof found->name, "%s", csv_cell(&t, k, where));
        snprintf(found->service, sizeof found->service, "%lu", number);
    }
    csv_free(&t);
    if (status == 0 && rows != 1)
        status = report_error(EXIT_WRONG, rows ? "%s has agent '%s' more than once." : "%s does not have agent '%s'.",
                              path, name);
    return status;
}

char *swarm_path(const char *folder, const char *name, const char *ending) {
    const size_t size = strlen(folder) + strlen(name) + strlen(ending) + 3;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s%s", folder, name, ending);
    return path;
}

int is_swarm_name(const char *name) {
    if (*name == '\0' || *name == '.' || *name == '-' || strlen(name) > 60) return 0;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && strchr("._-", *name) == NULL) return 0;
    return 1;
}

static int hex_of(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

static int parse_key(const char *text, unsigned char key[SEAL_KEY]) {
    for (size_t k = 0; k < SEAL_KEY; k++) {
        const int high = hex_of(text[2 * k]), low = high < 0 ? -1 : hex_of(text[2 * k + 1]);
        if (low < 0) return 0;
        key[k] = (unsigned char)(16 * high + low);
    }
    return text[2 * SEAL_KEY] == '\0';
}

/* Lines "run NUMBER", "agent NAME", "encrypt yes" where datagrams are encrypted, "key NEIGHBOUR HEX". */
int keys_read(const char *path, uint64_t run, const char *agent, size_t count, const char *const *neighbours,
              seal_keys *keys) {
    char word[16], name[128], value[128], line[300];
    size_t found = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return report_error(EXIT_WRONG, "Agent '%s': cannot open the key file '%s': %s.", agent, path, strerror(errno));
    int status = 0;
    while (status == 0 && fgets(line, sizeof line, file)) {
        const int words = sscanf(line, "%15s %127s %127s", word, name, value);
        if (words == 2 && strcmp(word, "run") == 0 && strtoull(name, NULL, 16) != run)
            status = report_error(EXIT_WRONG, "Agent '%s': the key file '%s' is of another plan than its part file.",
                                  agent, path);
        if (words == 2 && strcmp(word, "agent") == 0 && strcmp(name, agent) != 0)
            status = report_error(EXIT_WRONG, "'%s' is the key file of agent '%s', not of '%s'.", path, name, agent);
        if (words == 2 && strcmp(word, "encrypt") == 0) keys->encrypts = strcmp(name, "yes") == 0;
        if (words < 3 || strcmp(word, "key") != 0) continue;
        for (size_t k = 0; k < count; k++)
            if (strcmp(neighbours[k], name) == 0 && parse_key(value, keys->key[k])) found++;
    }
    fclose(file);
    if (status == 0 && found != count)
        status = report_error(EXIT_WRONG, "Agent '%s': the key file '%s' has keys of %zu of its %zu neighbours.", agent,
                              path, found, count);
    return status;
}

int keys_write(const char *path, uint64_t run, const char *agent, size_t count, const char *const *neighbours,
               const seal_keys *keys) {
    unlink(path);
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (file == NULL) return report_error(EXIT_FAILED, "Cannot write '%s': %s.", path, strerror(errno));
    fprintf(file, "run %016" PRIx64 "\nagent %s\n%s", run, agent, keys->encrypts ? "encrypt yes\n" : "");
    for (size_t k = 0; k < count; k++) {
        fprintf(file, "key %s ", neighbours[k]);
        for (size_t b = 0; b < SEAL_KEY; b++) fprintf(file, "%02x", keys->key[k][b]);
        fputc('\n', file);
    }
    const int good = !ferror(file);
    if (fclose(file) == 0 && good) return 0;
    return report_error(EXIT_FAILED, "Cannot write '%s': %s.", path, strerror(errno));
}
