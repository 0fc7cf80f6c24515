/* A script for gnuplot that draws the same picture as SVG and as PNG. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/error_output.h"
#include "plot.h"

/* Runs gnuplot on DIR/plots/NAME.gp; its status 127: it is not there. */
static int run_gnuplot(const paper *p, const char *name) {
    static int reported;
    char script[PATH_SIZE];
    int status = 0;
    snprintf(script, sizeof script, "%s/plots/%s.gp", p->options.folder, name);
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) return report_error(EXIT_FAILED, "Cannot start gnuplot: %s.", strerror(errno));
    if (child == 0) {
        execlp("gnuplot", "gnuplot", script, (char *)NULL);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 127)
        return report_error(EXIT_FAILED, "gnuplot failed to draw '%s'.", script);
    if (!reported)
        fprintf(stderr, "svmp-paper: gnuplot is not installed, so pictures are left out (Debian: gnuplot-nox)\n");
    reported = 1;
    return 0;
}

void quote(FILE *file, const char *text) {
    fputc('\'', file);
    for (; *text; text++) fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, file);
    fputc('\'', file);
}

int draw_script(const paper *p, const char *name, int width, int height, script_body body, const void *user_data) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/plots/%s.gp", p->options.folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) return report_error(EXIT_FAILED, "Cannot write '%s': %s.", path, strerror(errno));
    for (int png = 0; png < 2; png++) {
        char picture[PATH_SIZE];
        snprintf(picture, sizeof picture, "%s/%s/%s.%s", p->options.folder, png ? "png" : "paper", name,
                 png ? "png" : "svg");
        fprintf(file, "reset\nset terminal %s size %d,%d %s\nset output ", png ? "pngcairo" : "svg", width, height,
                png ? "font 'Sans,10'" : "dynamic enhanced font 'sans-serif,12' background rgb 'white'");
        quote(file, picture);
        fputs("\n", file);
        body(file, user_data);
        fputs("unset output\n", file);
    }
    if (fclose(file) != 0) return report_error(EXIT_FAILED, "Cannot write '%s'.", path);
    return run_gnuplot(p, name);
}
