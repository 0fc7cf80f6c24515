"""Answers of a crowd, each of whose workers has a bias and a noise: crowd_answers.py [PICTURE.svg]"""

import json

import numpy as np
import picture
import svmp

files = [picture.MODELS / name for name in ("crowd.csv", "crowd.json")]
fit = svmp.Model(picture.MODELS / "crowd.bug", files).fit(progressbar=False)
data = np.genfromtxt(files[0], delimiter=",", names=True)
known = json.load(open(files[1]))
question, worker, answer = data["question"].astype(int) - 1, data["worker"].astype(int) - 1, data["answer"]
x, bias, noise = fit["x"], fit["bias"], np.sqrt(fit["nu"])
plain = np.array([answer[question == i].mean() for i in range(known["questions"])])
unknown = x.std(axis=0) > 0
print(fit.verdict)
print(f"{known['questions']} questions, {unknown.sum()} without a known answer; {known['workers']} workers, {answer.size} answers")
print(f"biases from {bias.mean(axis=0).min():.1f} to {bias.mean(axis=0).max():.1f}, noises from {noise.mean(axis=0).min():.1f} to {noise.mean(axis=0).max():.1f}")
print(f"median sd of an answer: {np.median(x.std(axis=0)[unknown]):.2f}")
print(f"the plain mean differs by more than 2 sd on {np.sum(np.abs(plain - x.mean(axis=0))[unknown] > 2 * x.std(axis=0)[unknown])} questions")

if drawing := picture.axes(2, width=8):
    figure, (left, right) = drawing
    left.errorbar(bias.mean(axis=0), noise.mean(axis=0), xerr=1.645 * bias.std(axis=0), yerr=1.645 * noise.std(axis=0), fmt="o", ms=3, lw=0.7,
                  color=picture.BLUE)
    left.set(xlabel="bias of a worker, with 90 %", ylabel="noise")
    right.errorbar(plain[unknown], x.mean(axis=0)[unknown], yerr=1.645 * x.std(axis=0)[unknown], fmt="o", ms=3, lw=0.7, color=picture.BLUE)
    right.axline((0, 0), slope=1, color=picture.GREY, lw=1)
    right.set(xlabel="plain mean of the answers", ylabel="svmp, with 90 %")
    picture.save(figure)
